import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { Surroundings } from '../../home/home-path.ts';
import { UsageError } from '../../start-error.ts';
import { findWorkstream, getWorkstream } from '../find-workstream.ts';
import { describesNew, existsAlready, type NewWorkstreamFlags, toNewWorkstream } from '../new-workstream.ts';
import { type ContinueFlags, findContinued } from '../run/continued-workstream.ts';

interface ChooseFlags extends NewWorkstreamFlags, ContinueFlags {
  new?: boolean | undefined;
}

/** The workstream of a chat: the named one or `main`, or a new one if a flag asks for that. */
export async function chooseWorkstream(
  client: Pick<GatewayClient, 'call'>,
  flags: ChooseFlags,
  around: Surroundings,
): Promise<string> {
  const continued = await findContinued(client, flags, around);
  if (continued !== undefined) return continued;
  const { ws } = flags;
  if (flags.new !== true && !describesNew(flags)) return getWorkstream(client, ws ?? 'main');
  // A second workstream with this name would make the name ambiguous, so it requires `--new`.
  if (flags.new !== true && ws !== undefined && (await findWorkstream(client, ws)) !== undefined) {
    throw new UsageError(`${existsAlready(ws)} Leave them out, or add --new.`);
  }
  return (await client.call('workstream.create', toNewWorkstream(flags, around))).wsId;
}
