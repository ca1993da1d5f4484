#!/usr/bin/env bash
# Runs a plan of 200 units with Debian's Slurm: a controller and two nodes on this machine, one with
# the feature of PoCL, one with those of Oclgrind and of the tools of spirv. A node dies and a task is
# requeued while the units run. Compares the bundle with that of one run.
#
# Usage: bench/slurm_plan.sh BUILD_DIR, whose output is a part of bench/results/plan.txt
# Needs: root, slurmctld slurmd slurm-client munge (Debian's packages), pocl-opencl-icd, oclgrind, the
# tools of spirv:1.2.
set -euo pipefail

build=$(realpath "${1:?usage: bench/slurm_plan.sh BUILD_DIR}")
export PATH=$build/oclcc:$PATH
export OCL_ICD_VENDORS="${OCL_ICD_VENDORS:-$build/platforms}"
work=$(mktemp -d)
export SLURM_CONF=$work/slurm.conf XDG_CACHE_HOME=$work/cache POCL_CACHE_DIR=$work/pocl
cd "$work"

daemons=()
end_all() {
  scancel --user=root --quiet 2>/dev/null || true
  sleep 1
  kill -9 "${daemons[@]}" 2>/dev/null || true
  rm -rf "$work"
}
trap end_all EXIT

feature_of() { oclcc --identity | tr '=,' '\n' | grep "^oclcc_$1"; }
pocl=$(feature_of pocl)
oclgrind=$(feature_of oclgrind)
tools=$(feature_of spirv)

start_munge() {
  if ! munge -n >/dev/null 2>&1; then
    [ -s /etc/munge/munge.key ] || mungekey --create
    install -d -o munge -g munge /run/munge /var/lib/munge /var/log/munge
    setpriv --reuid=munge --regid=munge --clear-groups munged
    daemons+=("$(cat /run/munge/munged.pid)")
  fi
}

write_configuration() {
  mkdir state n1 n2
  cat >slurm.conf <<END
ClusterName=plan
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=17101
AuthType=auth/munge
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000
StateSaveLocation=$work/state
SlurmctldPidFile=$work/slurmctld.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdSpoolDir=$work/%n/spool
SlurmdPidFile=$work/%n/slurmd.pid
SlurmdLogFile=$work/%n/slurmd.log
NodeName=n1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=17111 CPUs=1 Feature=$pocl
NodeName=n2 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=17112 CPUs=1 Feature=$oclgrind,$tools
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
}

start_node() {
  slurmd -D -N "$1" >/dev/null 2>&1 &
  daemons+=($!)
  node_process=$!
}

write_sources() {
  for program in $(seq 10); do
    echo "kernel void k$program(global float* p) { p[get_global_id(0)] += N * $program; }" >"p$program.cl"
  done
  words=(p*.cl --device "$pocl" --device "$oclgrind" --target 'spirv:1.0,1.2' --no-cache -o kernels.clbin)
  for variant in $(seq 5); do words+=(--variant "v$variant=-DN=$variant"); done
}

built() { find kernels.plan/units -name '*.clbin' | wc -l; }

wait_for_units() { until [ "$(built)" -ge "$1" ]; do sleep 0.2; done; }

start_munge
write_configuration
slurmctld -D -i >/dev/null 2>&1 &
daemons+=($!)
start_node n1
first_node=$node_process
start_node n2
until [ "$(sinfo --noheader --states=idle --Format=nodes 2>/dev/null | tr -d ' ')" = 2 ]; do sleep 0.5; done
echo "# $(slurmctld -V), $(oclcc --version | head -1), $(nproc) cores, $(date -u +%F)"
sinfo --noheader --Node --format='%N %f'

write_sources
oclcc --plan=slurm "${words[@]}" 2>&1
start=$(date +%s)
job=$(sh kernels.plan/plan.slurm)
squeue --noheader --format='%i %j %f %E' | head -5

wait_for_units 20
running=$(squeue --noheader --states=running --name=oclcc-unit --nodelist=n2 --format=%A | head -1)
scontrol requeue "$running" && echo "requeued a task on n2 after $(built) units"
wait_for_units 40
kill -9 "$first_node" "$(pgrep -P "$first_node" -d ' ' || true)" 2>/dev/null || true
scontrol update nodename=n1 state=down reason=killed
echo "killed n1 after $(built) units"
sleep 3
start_node n1
scontrol update nodename=n1 state=resume
while squeue --noheader --job="$job" 2>/dev/null | grep -q .; do sleep 0.5; done
echo "job $job ended after $(($(date +%s) - start)) s with $(built) units"
mv kernels.clbin by_slurm.clbin

start=$(date +%s)
oclcc "${words[@]}"
echo "one run, without the cache: $(($(date +%s) - start)) s"
cmp kernels.clbin by_slurm.clbin && echo "the bundles are the same: $(sha256sum <kernels.clbin | cut -c 1-16)"

# Run again, after some units were lost: it submits these only.
find kernels.plan/units -name '*.clbin' | sort | head -7 | xargs rm
rm kernels.clbin
OCLCC_WAIT=1 sh kernels.plan/plan.slurm >/dev/null
echo "again, after 7 units were removed: $(find kernels.plan/log -name '*_*.log' -newer by_slurm.clbin | wc -l) tasks"
cmp kernels.clbin by_slurm.clbin && echo "the bundles are the same"
