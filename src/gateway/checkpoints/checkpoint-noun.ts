import { checkpointMethods } from '../methods/conversation/checkpoint.ts';
import { DAEMON } from '../sharing/perception.ts';
import type { Workdirs } from '../workstreams/workdirs.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import type { Checkpoints } from './checkpoints.ts';

interface CheckpointNounDeps {
  checkpoints: Checkpoints;
  workstreams: Pick<Workstreams, 'get' | 'lookUp' | 'isStored'>;
  workdirs: Pick<Workdirs, 'release'>;
}

/** What runs changed on disk, as a noun. It recovers before the workstreams, whose runs must not find files half taken back. */
export const checkpointNoun = ({ checkpoints, workstreams, workdirs }: CheckpointNounDeps) => ({
  methods: checkpointMethods({ workstreams, checkpoints }),
  recover: () =>
    checkpoints.recover(async (wsId, work) => {
      const data = await workstreams.lookUp(wsId, DAEMON);
      if (data) await work(data).finally(() => workdirs.release(wsId));
    }),
  run: (signal: AbortSignal) => checkpoints.run(signal),
});
