#!/bin/sh
# Whether the narrow code, the wide code and what the loader picks compute the same bytes; says which part differs.
cd "$1" || exit 1
[ -x ./widths_picked ] || { echo "vector widths: this processor has one build only"; exit 0; }
./widths_picked > widths_picked.txt && ./widths_narrow > widths_narrow.txt || exit 1
./widths_wide > widths_wide.txt
case $? in
  0) widths="narrow wide" ;;
  77) widths="narrow" ;;
  *) exit 1 ;;
esac
for width in $widths; do
  diff widths_picked.txt "widths_$width.txt" || { echo "$width vectors give other bytes"; exit 1; }
done
echo "vector widths ($widths): the same bytes in $(wc -l < widths_picked.txt) parts"
