import { usageOf } from '../../../protocol/commands.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Sender } from '../rights.ts';
import type { Runs } from '../runs/runs.ts';
import type { Workstream } from '../workstreams/workstream.ts';

/** `/steer MESSAGE`: the run in progress reads the message at its next turn. If nothing runs, it is sent as usual. */
export const createSteerCommand =
  (runs: Pick<Runs, 'accept'>) =>
  async (message: string, workstream: Workstream, by: Sender): Promise<void> => {
    if (message === '') throw new GatewayError('INVALID_REQUEST', `Usage: ${usageOf('steer')}`);
    await runs.accept(workstream, { message, ...by, source: 'person', request: { steer: true } });
  };
