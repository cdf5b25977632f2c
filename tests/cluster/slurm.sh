#!/bin/sh
# Runs a sweep on a real one-node SLURM of this machine, by dask-jobqueue, and compares the results.
#
#   tests/cluster/slurm.sh PYTHON
#
# PYTHON has reprieve[cluster]. Needs root and Debian's slurmctld, slurmd, slurm-client and munge;
# everything it starts ends with it, and nothing outside a temporary folder is changed.
set -eu

python=${1:?usage: tests/cluster/slurm.sh PYTHON}
here=$(cd "$(dirname "$0")" && pwd)
for tool in munged slurmctld slurmd sbatch sinfo; do
    command -v "$tool" >/dev/null || {
        echo "$tool was not found; apt-get install slurmctld slurmd slurm-client munge" >&2
        exit 2
    }
done
[ "$(id -u)" = 0 ] || { echo "slurm.sh: needs root, as slurmd does" >&2; exit 2; }

work=$(mktemp -d)
chmod 755 "$work"
mkdir "$work/spool" "$work/state"

stop() {
    status=$?
    scancel --user root 2>/dev/null || true
    for name in slurmd slurmctld munged; do
        [ -f "$work/$name.pid" ] || continue
        daemon=$(cat "$work/$name.pid")
        kill "$daemon" 2>/dev/null || continue
        # It writes its last words into the folder that is about to go.
        while [ "$(ps -o stat= -p "$daemon" | cut -c 1)" != Z ] && kill -0 "$daemon" 2>/dev/null; do
            sleep 0.1
        done
    done
    if [ "$status" != 0 ]; then
        tail -n 20 "$work"/*.log "$work"/*.out >&2 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM

dd if=/dev/urandom of="$work/munge.key" bs=1024 count=1 2>/dev/null
chmod 400 "$work/munge.key"
munged --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munged.pid" \
    --log-file="$work/munged.log" --seed-file="$work/munge.seed" --force

export SLURM_CONF="$work/slurm.conf"
cat >"$SLURM_CONF" <<CONF
ClusterName=one
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CredType=cred/munge
SlurmctldPort=${SLURM_CONTROL_PORT:-36817}
SlurmdPort=${SLURM_NODE_PORT:-36818}
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
SlurmdSpoolDir=$work/spool
StateSaveLocation=$work/state
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=$(hostname) NodeAddr=127.0.0.1 CPUs=2 RealMemory=4000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
slurmctld -c
slurmd

tries=0
until sinfo --noheader --format=%T | grep -q idle; do
    tries=$((tries + 1))
    [ "$tries" -lt 60 ] || { echo "slurm.sh: the node does not come up" >&2; exit 1; }
    sleep 1
done
cd "$work"
"$python" "$here/sweep_on_slurm.py" "$work"
