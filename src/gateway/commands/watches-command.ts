import { usageOf } from '../../../protocol/commands.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Watch } from '../../../protocol/events/watch.ts';
import { commandName } from '../../../protocol/text/background-words.ts';
import { toVisibleText } from '../../../protocol/text/visible-text.ts';
import { watchWords } from '../../../protocol/text/watches/watch-words.ts';
import type { WatchRecords } from '../watches/watch-records.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { Command } from './command.ts';

interface WatchesCommandDeps {
  background: { watches: { records: Pick<WatchRecords, 'active'> } };
}

/** The number, name or id that follows `cancel`; undefined: the command only lists. */
export const cancelledBy = (argument: string): string | undefined => /^cancel\s+(\S.*)$/i.exec(argument)?.[1];

/** `/watches`: lists the active watches, or cancels one. The answer goes to `say`. */
export const createWatchesCommand =
  ({ background }: WatchesCommandDeps, say: (to: Workstream, text: string) => Promise<void>): Command['run'] =>
  async (argument, workstream, by) => {
    const active = await background.watches.records.active(workstream.data.wsId);
    const toCancel = cancelledBy(argument);
    if (toCancel !== undefined) {
      const { watch_id: watchId, name } = find(active, toCancel);
      await by.call.perform('watch.cancel', { watchId });
      return say(workstream, toVisibleText(`Cancelled: ${name}`));
    }
    if (argument !== '') throw new GatewayError('INVALID_REQUEST', `Usage: ${usageOf('watches')}`);
    return say(workstream, toVisibleText(toList(active)));
  };

/** By its number in the list, its name or its id. */
function find(active: readonly Watch[], named: string): Watch {
  const found = active[Number(named) - 1] ?? active.find(({ watch_id: id, name }) => id === named || name === named);
  if (!found) throw new GatewayError('NOT_FOUND', `No watch is called ${named}. /watches lists them.`);
  return found;
}

function toList(active: readonly Watch[]): string {
  if (active.length === 0) return 'No watch is active.';
  const lines = active.map((watch, index) => `${index + 1}  ${toLine(watch)}`);
  return [...lines, '/watches cancel N cancels one.'].join('\n');
}

const toLine = (watch: Watch): string =>
  `${watch.name}: ${commandName(watch.command)}  (${watchWords(watch)}${watch.stop_on === '' ? '' : `, until ${watch.stop_on}`})`;
