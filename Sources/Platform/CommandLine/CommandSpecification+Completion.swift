// Completion scripts are tables: the words that can follow each path of verbs. They know no values
// beyond an option's choices and leave files to the shell.

extension CommandSpecification {
    /// A script for `shell`, to be sourced or installed where the shell looks.
    package func completion(for shell: Shell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    /// Every path of verbs with its command and the options that apply.
    private var paths:
        [(path: [String], command: CommandSpecification, options: [OptionSpecification])]
    {
        var found:
            [(path: [String], command: CommandSpecification, options: [OptionSpecification])] = []
        func walk(
            _ command: CommandSpecification, _ path: [String], _ options: [OptionSpecification]
        ) {
            found.append((path, command, options))
            for next in command.subcommands {
                walk(next, path + [next.name], options + next.options)
            }
        }
        walk(self, [], options)
        return found
    }

    private func words(
        _ path: [String], _ command: CommandSpecification, _ options: [OptionSpecification]
    ) -> [String] {
        var words = command.subcommands.map(\.name)
        if path.isEmpty { words += Self.builtIn }
        words += options.map { "--" + $0.long } + ["--help"]
        if path.isEmpty { words.append("--version") }
        return words
    }

    private var function: String {
        "_" + String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    // `path` and `words` are zsh's own parameters, so the lines for both shells say `at` and
    // `offered`.

    /// `case` arms that list the choices of options.
    private var choiceArms: String {
        var arms = ""
        var seen: Set<String> = []
        for (_, _, options) in paths {
            for option in options
            where !option.choices.isEmpty && seen.insert(option.long).inserted {
                let names = (option.short.map { "-\($0)|" } ?? "") + "--" + option.long
                arms += "    \(names)) offered=\"\(option.choices.joined(separator: " "))\" ;;\n"
            }
        }
        return arms + "    completion) offered=\"bash zsh fish\" ;;\n"
    }

    /// `case` arms that list what can follow each path of verbs.
    private var pathArms: String {
        paths.map { path, command, options in
            let words = words(path, command, options).joined(separator: " ")
            return "    \"\(path.joined(separator: " "))\") offered=\"\(words)\" ;;\n"
        }.joined()
    }

    /// Lines that gather the verbs typed so far, then choose what to offer.
    private func choosing(typed: String, previous: String) -> String {
        let known = paths.dropFirst().map { "\"" + $0.path.joined(separator: " ") + "\"" }
        let pattern = known.isEmpty ? "\"\"" : known.joined(separator: "|")
        return """
                local word next at="" offered=""
                for word in \(typed); do
                    next="${at:+$at }$word"
                    case "$next" in
                    \(pattern)) at="$next" ;;
                    esac
                done
                case "$at" in
            \(pathArms)    esac
                case "\(previous)" in
            \(choiceArms)    esac
            """
    }

    private var bash: String {
        """
        # bash completion for \(name)
        \(function)() {
        \(choosing(
            typed: "\"${COMP_WORDS[@]:1:COMP_CWORD-1}\"", previous: "${COMP_WORDS[COMP_CWORD-1]}"))
            COMPREPLY=($(compgen -W "$offered" -- "${COMP_WORDS[COMP_CWORD]}"))
        }
        complete -o default -F \(function) \(name)

        """
    }

    private var zsh: String {
        """
        #compdef \(name)
        \(function)() {
        \(choosing(typed: "\"${(@)words[2,CURRENT-1]}\"", previous: "${words[CURRENT-1]}"))
            compadd -- ${=offered}
            _files
        }
        if [ "$funcstack[1]" = "\(function)" ]; then
            \(function) "$@"
        else
            compdef \(function) \(name)
        fi

        """
    }

    private var fish: String {
        var lines = ["# fish completion for \(name)"]
        let test = function + "_at"
        let known =
            paths.dropFirst().map { "'" + $0.path.joined(separator: " ") + "'" } + ["completion"]
        lines += [
            "function \(test)",
            "    set -l path ''",
            "    for word in (commandline -opc)[2..-1]",
            "        set -l next (string trim -- \"$path $word\")",
            "        if contains -- \"$next\" \(known.joined(separator: " "))",
            "            set path $next",
            "        end",
            "    end",
            "    test \"$path\" = \"$argv[1]\"",
            "end",
        ]
        for (path, command, options) in paths {
            let start =
                "complete -c \(name) -n \"\(test) '\(path.joined(separator: " "))'\""
            for next in command.subcommands {
                lines.append("\(start) -f -a \(next.name) -d '\(next.summary.fishQuoted)'")
            }
            if path.isEmpty {
                lines.append("\(start) -f -a 'completion help manual'")
                lines.append(
                    "complete -c \(name) -n \"\(test) 'completion'\" -f -a 'bash zsh fish'")
                lines.append("\(start) -l version -d 'show the version'")
            }
            for option in options {
                var line = "\(start) -l \(option.long)"
                if let short = option.short { line += " -s \(short)" }
                if option.valueName != nil { line += " -r" }
                if !option.choices.isEmpty {
                    line += " -f -a '\(option.choices.joined(separator: " "))'"
                }
                lines.append(line + " -d '\(option.help.fishQuoted)'")
            }
            lines.append("\(start) -s h -l help -d 'show this help'")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension String {
    fileprivate var fishQuoted: String {
        map { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
    }
}
