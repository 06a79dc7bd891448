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

# Prints the number of the machine's Debian release, 12 or 13; fails on another system.
debian_release() {
  local release
  release="$(. /etc/os-release && [[ "${ID:-}" == debian ]] && echo "${VERSION_ID:-}")" || release=
  if [[ "$release" != 12 && "$release" != 13 ]]; then
    echo "this needs Debian 12 or 13; /etc/os-release names another system" >&2
    return 1
  fi
  echo "$release"
}

# The keys that Debian signs its releases with.
readonly DEBIAN_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# Prints the address of the archive that this machine installs Debian's packages from.
debian_mirror() {
  apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL) $(COMPONENT)' 'Created-By: Packages' |
    awk '$2 == "Debian" && $3 == "Debian" && $4 == "main" { print $1; exit }'
}

# Runs a program of apt for a release, with its sources. Its state is in FOLDER, so the machine's own is
# not touched. Usage: apt_of KIND RELEASE FOLDER PROGRAM ARGUMENT...   KIND is deb or deb-src.
apt_of() {
  local kind="$1" release="$2" folder="$3" program="$4" mirror
  shift 4
  mirror="$(debian_mirror)"
  mkdir -p "$folder"/{lists/partial,cache/archives/partial}
  : >"$folder/status"
  local releases=("$release") name
  [[ "$release" != *-backports ]] || releases+=("${release%-backports}")
  for name in "${releases[@]}"; do
    echo "$kind [signed-by=$DEBIAN_KEYRING] $mirror $name main"
  done >"$folder/sources.list"
  LC_ALL=C "$program" -q \
    -o Dir::Etc::SourceList="$folder/sources.list" -o Dir::Etc::SourceParts=- \
    -o Dir::Etc::Preferences=- -o Dir::Etc::PreferencesParts=- \
    -o Dir::State::Lists="$folder/lists" -o Dir::State::Status="$folder/status" \
    -o Dir::Cache="$folder/cache" -o APT::Default-Release="$release" -o APT::Sandbox::User=root \
    "$@"
}
