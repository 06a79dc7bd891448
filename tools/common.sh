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

# Makes a root folder of a Debian release. Needs root. Usage: make_root RELEASE FOLDER PACKAGE[,PACKAGE...]
make_root() {
  if ! command -v mmdebstrap >/dev/null; then
    echo "mmdebstrap is not installed: apt install mmdebstrap" >&2
    return 1
  fi
  chmod 755 "$2"
  mmdebstrap --quiet --variant=minbase --include="$3" \
    "$1" "$2" "deb [signed-by=$DEBIAN_KEYRING] $(debian_mirror) $1 main"
}

# Copies this checkout (files that git tracks or would track) to a root folder, as /redouble. tar keeps
# the times of files, so that builds inside stay incremental. Usage: copy_checkout FOLDER
copy_checkout() {
  local new
  new="$(mktemp -d "$1/redouble.XXXXXX")"
  (cd "$ROOT" && git ls-files -z --cached --others --exclude-standard |
    tar --null --files-from=- --ignore-failed-read -c 2>/dev/null) | tar -x -C "$new"
  rm -rf "$1/redouble"
  mv "$new" "$1/redouble"
}

# Runs a command in /redouble of a root folder. The mounts are seen by it alone and end with it. The folder
# becomes the root of these mounts, because a process whose root is another may not make namespaces
# (tools/emulate). Usage: in_root FOLDER COMMAND...
in_root() {
  cp /etc/resolv.conf "$1/etc/resolv.conf"
  unshare --mount --propagation private bash -c '
    set -euo pipefail
    mount --bind "$0" "$0"
    cd "$0"
    mount -t proc proc proc
    mount --rbind /dev dev
    pivot_root . mnt
    exec env -i HOME=/root TERM="${TERM:-dumb}" LANG=C.UTF-8 \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      bash -c "umount -l /mnt && cd /redouble && exec \"\$@\"" bash "$@"' "$@"
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
