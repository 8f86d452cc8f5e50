#!/bin/sh
# Runs a cluster in the background, and ends it: cluster.sh up|down. The Makefile calls it.
set -eu
cd "$(dirname "$0")/../.."
state=../bin/cluster
running() {
  case "$(ps -p "$(cat $state/pid 2>/dev/null)" -o comm= 2>/dev/null)" in *e2e-cluster) return 0 ;; *) return 1 ;; esac
}
clear_line() { if [ -t 1 ]; then printf '\r\033[K'; fi; }
case $1 in
up)
  if ! running; then
    mkdir -p $state
    rm -f $state/ready
    echo "Starting the cluster. Its log is bin/cluster/log. The first time its programs are built, which takes some minutes."
    nohup ../bin/e2e-cluster > $state/log 2>&1 &
    echo $! > $state/pid
  fi
  told=0
  begun=$(date +%s)
  until [ -e $state/ready ]; do
    running || { echo "It has not come up:"; cat $state/log; exit 1; }
    lines=$(wc -l < $state/log)
    if [ "$lines" -gt "$told" ]; then
      clear_line
      sed -n "$((told + 1)),${lines}p" $state/log | grep -E '^(building|built) ' || true
      told=$lines
    fi
    if [ -t 1 ]; then printf '\r%ss ' $(($(date +%s) - begun)); fi
    sleep 0.2
  done
  clear_line
  cat $state/ready
  ;;
down)
  running || { echo "No cluster is running."; exit 0; }
  kill "$(cat $state/pid)"
  while running; do sleep 0.1; done
  rm -rf $state
  echo "The cluster is gone."
  ;;
esac
