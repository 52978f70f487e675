# What the job scripts share: the site's settings, signals that reach a job, and its way back into the queue.
# SLURM warns a job by TERM or USR1, sent to what srun started, to the script, or to both.

warned=  # the last warning that reached this script
for name in TERM USR1; do trap "warned=$name" "$name"; done

. "$LONGSEQ_SLURM/site.sh"
longseq_environment
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}

# An element of an array by its own name: the id of the last one is also that of all.
job=${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID}
job=${job:-$SLURM_JOB_ID}

say() { echo "job $job: $*" >&2; }

# patiently COMMAND…: SLURM may have no time at once.
patiently() {
  for _ in 1 2 3 4 5; do "$@" && return; sleep 3; done
  return 1
}

# ends CODE COMMAND…: run it to its end; its exit code goes into the variable CODE. A warning is passed on as USR1, since
# srun kills its ranks at once when TERM comes; after an early one nothing is begun.
ends() {
  local -n ended=$1
  shift
  local woken
  [ -z "$warned" ] || { ended=85 && return; }
  "$@" &
  local pid=$!
  for name in TERM USR1; do trap "woken=yes warned=$name; kill -USR1 $pid 2> /dev/null" "$name"; done
  while woken= && { wait "$pid"; ended=$?; } && [ -n "$woken" ]; do :; done  # a trap ends `wait`, not the command
  trap '' TERM USR1  # from here on they change nothing
}

# Whether a command with that exit code was stopped: by itself (85), by a signal before it could save anything (138: USR1,
# 143: TERM), or in whatever way after a warning.
stopped() { [ "$1" = 85 ] || [ "$1" = 138 ] || [ "$1" = 143 ] || { [ "$1" != 0 ] && [ -n "$warned" ]; }; }

# once_more CODE: into the queue again, unless somebody has cancelled the job: `scontrol requeue` would bring it back.
once_more() {
  local state
  state=$(patiently squeue --noheader --jobs "$job" --format '%T %r')
  case $state in
    RUNNING* | "COMPLETING TimeLimit")
      say "stopped (${warned:+$warned, }exit code $1), goes back into the queue"
      patiently scontrol requeue "$job" || say "cannot be requeued; submit it again, and it goes on" ;;
    *) say "stopped and not requeued: ${state:-nothing is known of it}" ;;
  esac
  exit 85
}

# stands_still FILE WHERE: note where this attempt begins. Give up once too many have begun at the same place.
stands_still() {
  local place= attempts=0
  [ "${SLURM_RESTART_COUNT:-0}" = 0 ] || { [ -e "$1" ] && read -r attempts place < "$1"; }
  case $attempts in "" | *[!0-9]*) attempts=0 place= ;; esac  # arithmetic would run what a file of others says
  [ "$place" = "$2" ] && attempts=$((attempts + 1)) || attempts=0
  rm -f -- "$1"  # a link in its place is not written through
  (set -o noclobber && echo "$attempts $2" > "$1")
  if [ "$attempts" -gt "$LONGSEQ_STANDSTILLS" ]; then
    say "$attempts attempts came no further than: $2; the log above says why. Submitted again, it goes on"
    exit 1
  fi
}
