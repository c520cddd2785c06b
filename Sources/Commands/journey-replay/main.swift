import Glibc

exit(await ReplayProcess.run())
