import type { BackgroundRecords } from '../background/background-store.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import type { Outputs } from './outputs.ts';

type Share = Pick<Outputs, 'share'>;

/** Shares the long output of each call before its result is stored, so that whoever reads the result finds the output. */
export const sharingCalls = (toolbox: Toolbox, outputs: Share): Toolbox => ({
  ...toolbox,
  async prepare(call, context) {
    const prepared = await toolbox.prepare(call, context);
    if (prepared.kind !== 'ready') return prepared;
    const { execute } = prepared;
    return {
      ...prepared,
      async execute(run) {
        const outcome = await execute(run);
        if (outcome.kept?.name !== undefined) await outputs.share(outcome.kept.name);
        return outcome;
      },
    };
  },
  ...(toolbox.forCoordinators && { forCoordinators: sharingCalls(toolbox.forCoordinators, outputs) }),
});

/** Shares the output of a background command before its end is stored. */
export const sharingCommands = <T extends Pick<BackgroundRecords, 'changed'>>(records: T, outputs: Share): T => ({
  ...records,
  async changed(command) {
    const { outputName, state } = command;
    if (state.state === 'ended' && outputName !== undefined) await outputs.share(outputName);
    await records.changed(command);
  },
});
