# The largest error of what a program says of its outputs, as a share of the
# largest magnitude: "NAME: largest error E at I (S of the largest magnitude)" a
# line, from model-runner and run_bundle.c. Magnitudes below 2e-3 count as
# 2e-3. "-" where there is no such line.
match($0, /largest error [^ ]+/) {
  error = substr($0, RSTART + 14, RLENGTH - 14)
  match($0, /\([^ ]+ of the largest/)
  share = substr($0, RSTART + 1, RLENGTH - 16)
  value = share ~ /^[0-9.]+([eE][-+]?[0-9]+)?$/ ? share + 0 : 1e30
  if (value > 0 && error / value < 2e-3) value = error / 2e-3
  if (value > worst) worst = value
  ++count
}
END { if (count) printf "%.1e\n", worst; else print "-" }
