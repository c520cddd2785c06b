// Only the start: closures in this file belong to the main actor.
internal import Glibc

exit(FeatureProgram.run(words: Array(Swift.CommandLine.arguments.dropFirst())))
