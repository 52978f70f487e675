# What differs from cluster to cluster, in one place. Edit it, then read it into the shell that submits:
#
#     . pipelines/slurm/site.sh
#
# Jobs read it again on their nodes, from the same place.

export LONGSEQ_SLURM=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

# Where jobs run: sbatch takes each of its options from SBATCH_…; what stands on its command line comes first.
#export SBATCH_PARTITION=short
#export SBATCH_ACCOUNT=project
#export SBATCH_TIMELIMIT=12:00:00
#export SBATCH_MEM_PER_CPU=4G
# Graphics processors of a node: of a training one a rank (--ntasks-per-node), of a shard one (and --device cuda).
#export SBATCH_GPUS_PER_NODE=1

# How the command is found on a node. Called once in a job, before anything else.
longseq_environment() {
  : # module load python/3.11
  : # . "$HOME/longseq/bin/activate"
}

# A folder for temporary files on every node, fast and large if there is one.
#export TMPDIR=/scratch/$USER

# Attempts that may end where they began, one after the other, before a job gives up.
export LONGSEQ_STANDSTILLS=5

# Which network the ranks of a training talk over, where a node has several (one name, as `ip link` says it).
#export GLOO_SOCKET_IFNAME=eth0 NCCL_SOCKET_IFNAME=ib0
