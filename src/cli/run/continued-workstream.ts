import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { Surroundings } from '../../home/home-path.ts';
import { NotFoundError, UsageError } from '../../start-error.ts';
import { getWorkstream } from '../find-workstream.ts';
import { describesNew, type NewWorkstreamFlags } from '../new-workstream.ts';

/** The flags that choose a conversation to go on with. */
export interface ContinueFlags {
  /** A name, session key, id, or the beginning of one of them. */
  resume?: string | undefined;
  /** The last one in this folder. */
  continue?: boolean | undefined;
}

/** The workstream that the flags choose, opened if it was closed; undefined without such a flag. */
export async function findContinued(
  client: Pick<GatewayClient, 'call'>,
  flags: ContinueFlags & NewWorkstreamFlags & { new?: boolean | undefined },
  { cwd }: Pick<Surroundings, 'cwd'>,
): Promise<string | undefined> {
  const { resume } = flags;
  const isLast = flags.continue === true;
  if (resume === undefined && !isLast) return undefined;
  if (resume !== undefined && isLast) throw new UsageError('Give --resume or --continue, not both.');
  if (flags.ws !== undefined || flags.new === true || describesNew(flags)) {
    const flag = isLast ? '--continue' : '--resume';
    throw new UsageError(
      `${flag} goes on with a conversation. Leave out --ws, --new, --workdir, --model, --machine-label and --mode.`,
    );
  }
  return getWorkstream(client, resume ?? (await findLast(client, cwd)));
}

async function findLast(client: Pick<GatewayClient, 'call'>, workdir: string): Promise<string> {
  const { workstreams } = await client.call('workstream.saved', { limit: 1, workdir });
  const [last] = workstreams;
  if (last !== undefined) return last.wsId;
  throw new NotFoundError(`No conversation works in ${workdir}. To name another one, use --resume NAME.`);
}
