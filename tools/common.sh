# What every script in tools/ starts with; sourced, not run.

set -euo pipefail

readonly ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"

# Services start jobs without a HOME, and Bazel keeps its state and our disk cache below it.
if [[ -z "${HOME:-}" ]]; then
  HOME="$(getent passwd "$(id -u)" | cut -d: -f6)"
  export HOME="${HOME:-/tmp}"
fi

# Says what is going on. Usage: say TEXT...
say() {
  echo "== $*"
}

# The project's C++ files, NUL-terminated, relative to the root. (Bazel's output folders are
# symbolic links, which find does not follow.)
cpp_files() {
  (cd "$ROOT" && find . -name .git -prune -o \( -name '*.h' -o -name '*.cc' \) -type f -printf '%P\0' | sort -z)
}
