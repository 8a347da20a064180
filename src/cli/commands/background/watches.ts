import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { Watch } from '../../../../protocol/events/watch.ts';
import { commandName } from '../../../../protocol/text/background-words.ts';
import { watchWords } from '../../../../protocol/text/watches/watch-words.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { locateWorkstream } from '../../find-workstream.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { toTextTable } from '../../text-table.ts';

/** Flags of `list`. */
export type WatchListFlags = TargetFlags & { json?: boolean; all?: boolean; workstream?: string };

interface CommandOf<F = TargetFlags> {
  flags: F;
  around: Surroundings;
  root: URL;
}

/** Prints the active watches; with `all`, also those that have ended. */
export async function listWatches(command: CommandOf<WatchListFlags>): Promise<void> {
  const { workstream, json, all } = command.flags;
  const { watches } = await ask(command, async (client) => {
    const wsId = workstream === undefined ? undefined : await locateWorkstream(client, workstream);
    return client.call('watch.list', { ...(wsId !== undefined && { wsId }), ...(all && { ended: true }) });
  });
  if (json) process.stdout.write(`${JSON.stringify(watches, null, 2)}\n`);
  else if (watches.length === 0) process.stderr.write(all ? 'There are no watches.\n' : 'No watch is active.\n');
  else process.stdout.write(toTable(watches));
}

export async function cancelWatch(id: string, command: CommandOf): Promise<void> {
  const { cancelled } = await ask(command, (client) => client.call('watch.cancel', { watchId: id }));
  process.stderr.write(cancelled ? 'Cancelled.\n' : 'It had ended before.\n');
}

async function ask<T>({ flags, around, root }: CommandOf, work: (client: GatewayClient) => Promise<T>): Promise<T> {
  const caller = { target: await resolveTarget(flags, around), version: await readVersion(root) };
  return withClient(caller, work);
}

const toTable = (watches: readonly Watch[]): string =>
  toTextTable([
    ['ID', 'NAME', 'STATE', 'COMMAND'],
    ...watches.map((watch) =>
      [watch.watch_id, watch.name, watchWords(watch), commandName(watch.command)].map((text) => toSafeText(text)),
    ),
  ]);
