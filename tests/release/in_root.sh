#!/bin/sh
# Runs a command in a folder as its root, beside the programs and libraries of this machine, which stand for the base
# image: in_root.sh ROOT PYTHON open|closed USER:GROUP FOLDER WORDS... PYTHON: where Python was installed. "closed":
# nothing can be written. To be started by root with `unshare --mount`: what is mounted goes with the process.
set -eu
root=$1 python=$2 access=$3 user=$4 folder=$5
shift 5
mount --bind "$root" "$root"
parts="bin sbin lib lib64 usr"
# Who installs asks the package index, by this machine's settings.
[ "$access" = closed ] || parts="$parts etc"
for part in $parts; do
  if [ -L "/$part" ]; then
    [ -L "$root/$part" ] || ln -s "$(readlink "/$part")" "$root/$part"
  elif [ -d "/$part" ]; then
    mkdir -p "$root/$part"
    mount --bind -o ro "/$part" "$root/$part"
  fi
done
mkdir -p "$root/dev" "$root/proc" "$root$python"
for device in null zero random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mount --bind -o ro /proc "$root/proc"
mount --bind -o ro "$python" "$root$python"
[ "$access" = open ] || mount -o remount,bind,ro "$root"
exec chroot "$root" setpriv --reuid "${user%:*}" --regid "${user#*:}" --clear-groups --no-new-privs --inh-caps=-all \
  sh -c 'cd "$0" && exec "$@"' "$folder" "$@"
