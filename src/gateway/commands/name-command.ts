import { usageOf } from '../../../protocol/commands.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { sightInCommon } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import type { Settings } from '../workstreams/settings.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import { readNamed } from '../workstreams/workstream-rows.ts';
import { type Command, isNameInUse, toldToCaller } from './command.ts';

interface NameCommandDeps {
  store: Store;
  settings: Pick<Settings, 'change'>;
}

/** `/name`: names the workstream. The answer goes to `say`. */
export const createNameCommand =
  ({ store, settings }: NameCommandDeps, say: (to: Workstream, text: string) => Promise<void>): Command['run'] =>
  async (name, workstream, { viewer }) => {
    if (name === '') throw new GatewayError('INVALID_REQUEST', `Usage: ${usageOf('name')}`);
    try {
      await settings.change(workstream, { name: { text: name, by: viewer } });
    } catch (error) {
      if (!isNameInUse(error)) throw error;
      const { wsId } = workstream.data;
      const known = await readNamed(store, name, sightInCommon(workstream.data));
      throw known.some(({ ws_id }) => ws_id !== wsId) ? error : toldToCaller(error);
    }
    await say(workstream, `This workstream is now called ${name}.`);
  };
