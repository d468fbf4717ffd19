#!/bin/sh
# PrecompiledHeader.sh COMPILER ARGUMENT...: compiles a header, and writes a checksum of its
# text and macros beside it, in FILE.sum. The paths of headers are in the compiled file but
# not in the text: ccache takes the checksum in its place (pch_external_checksum), so that
# what other checkouts compiled with the same headers is found.
set -e
"$@"
output=
for argument; do
  [ "$previous" = -o ] && output=$argument
  previous=$argument
done
"$@" -E -P -dD -o "$output.text" -MF "$output.text.d"
sha256sum <"$output.text" >"$output.sum"
rm -f "$output.text" "$output.text.d"
