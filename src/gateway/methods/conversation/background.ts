import { GatewayError } from '../../../../protocol/errors.ts';
import type { backgroundContracts } from '../../../../protocol/methods/conversation/background.ts';
import type { BackgroundCommands } from '../../../agent/background/background-commands.ts';
import type { StoredCommand } from '../../../agent/background/background-store.ts';
import type { OutputPart, OutputRange } from '../../../agent/process/output-files.ts';
import type { StoredBackground } from '../../background/background-records.ts';
import type { Handlers } from '../../call.ts';
import { viewerOf } from '../../sharing/perception.ts';
import type { Workstreams } from '../../workstreams/workstreams.ts';

interface BackgroundMethodDeps {
  workstreams: Pick<Workstreams, 'get'>;
  background: Pick<BackgroundCommands, 'find' | 'read'>;
  records: Pick<StoredBackground, 'list'>;
  /** A part of a stored output by its name; undefined when it has expired. */
  readOutput(name: string, range: OutputRange): Promise<OutputPart | undefined>;
}

const STANDARD_BYTES = 65_536;

export const backgroundMethods = ({
  workstreams,
  background,
  records,
  readOutput,
}: BackgroundMethodDeps): Handlers<keyof typeof backgroundContracts> => {
  const find = async (wsId: string, commandId: string): Promise<StoredCommand> => {
    const found = await background.read(wsId, commandId);
    if (!found) throw new GatewayError('NOT_FOUND', 'No background command of this workstream has this id');
    return found;
  };
  return {
    async 'background.list'({ wsId }, call) {
      await workstreams.get(wsId, viewerOf(call));
      const stored = await records.list(wsId);
      // What runs has perhaps printed more since it was stored.
      return { commands: stored.map(({ state }) => background.find(wsId, state.command_id)?.state ?? state) };
    },
    async 'background.output'({ wsId, commandId, offset, limit = STANDARD_BYTES }, call) {
      await workstreams.get(wsId, viewerOf(call));
      const { state: command, outputName } = await find(wsId, commandId);
      if (outputName === undefined) return { command, text: '', offset: 0, totalBytes: 0 };
      const from = offset ?? (await endOf(outputName, limit, readOutput));
      const part = await readOutput(outputName, { offset: from, limit });
      if (!part) throw new GatewayError('NOT_FOUND', 'This output has expired');
      return { command, ...part, offset: from };
    },
    async 'background.kill'({ wsId, commandId }, call) {
      await workstreams.get(wsId, viewerOf(call));
      const run = background.find(wsId, commandId);
      const killed = run?.isRunning ?? false;
      await run?.stop('killed');
      return { killed, command: (await find(wsId, commandId)).state };
    },
  };
};

/** Where the last `limit` bytes begin. */
async function endOf(name: string, limit: number, readOutput: BackgroundMethodDeps['readOutput']): Promise<number> {
  const part = await readOutput(name, { offset: 0, limit: 1 });
  return Math.max(0, (part?.totalBytes ?? 0) - limit);
}
