# bare_debian.sh: sourced by tests that install glowish into a bare Debian 12, as root.

# make_bare_debian ROOT LOG [PACKAGE,...]: a folder with a bare Debian 12 and these packages,
# unless it is there, with an empty folder /test.
make_bare_debian() {
  local root=$1 log=$2 packages=${3-} mirror
  if [[ ! -e $root/.ready ]]; then
    mirror=$(sed -nE 's/^URIs: *(\S+debian)\/?$/\1/p
        s/^deb (\[[^]]*\] )?(\S+\/debian)\/? .*/\2/p' /etc/apt/sources.list \
      /etc/apt/sources.list.d/* 2>/dev/null | head -n 1) || :
    [[ -n $mirror ]] || {
      echo "no Debian mirror in the apt sources"
      return 1
    }
    debootstrap --variant=minbase ${packages:+--include="$packages"} bookworm "$root" \
      "$mirror" >"$log"
    # The same sources as this system's: updates are among them.
    rm -f "$root/etc/apt/sources.list"
    cp -r /etc/apt/apt.conf.d /etc/apt/sources.list* "$root/etc/apt/"
    touch "$root/.ready"
  fi
  rm -rf "$root/test"
  mkdir "$root/test"
}

# run_in_bare_debian ROOT: runs /test/run.sh in it, with no more than it has.
run_in_bare_debian() {
  chroot "$1" apt-get update -qq
  unshare --mount --pid --fork bash -c '
    mount -t proc proc "$0/proc"
    exec chroot "$0" env -i HOME=/root DEBIAN_FRONTEND=noninteractive \
      PATH=/usr/sbin:/usr/bin:/sbin:/bin bash /test/run.sh' "$1"
}
