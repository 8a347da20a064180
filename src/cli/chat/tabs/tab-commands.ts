import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import { UsageError } from '../../../start-error.ts';
import { getWorkstream } from '../../find-workstream.ts';
import { untilAnswered } from '../../until-answered.ts';
import { NEW_WORKSTREAM } from '../input/pickings.ts';
import type { ChatTabs } from './chat-tabs.ts';

interface TabCommandDeps {
  client: Pick<GatewayClient, 'call'>;
  tabs: ChatTabs;
  /** The folder of the workstream that is shown. */
  workdir: string;
  /** Messages of the tab are being sent. */
  isSending: boolean;
  newKey(): string;
}

const PATTERN = /^\/(open|tab|close)(?:\s+(\S.*))?$/;

export const isTabCommand = (line: string): boolean => PATTERN.test(line);

/** `/open NAME`, `/open new`, `/tab N` and `/close`. Rejects with words for the person. */
export async function runTabCommand(line: string, deps: TabCommandDeps): Promise<void> {
  const [, command, argument = ''] = PATTERN.exec(line) ?? [];
  const { client, tabs, isSending } = deps;
  if (isSending) throw new UsageError('Messages of this tab are still being sent. Change the tab after that.');
  switch (command) {
    case 'open':
      return tabs.open(argument === NEW_WORKSTREAM ? await create(deps) : await getWorkstream(client, argument));
    case 'tab':
      if (!tabs.choose(Number(argument))) throw new UsageError(`Usage: /tab N, with N from 1 to ${tabs.rows.length}`);
      return;
    default:
      if (!tabs.close()) throw new UsageError('This is the only tab. /quit leaves the chat.');
  }
}

async function create({
  client,
  workdir,
  newKey,
}: Pick<TabCommandDeps, 'client' | 'workdir' | 'newKey'>): Promise<string> {
  const params = { workdir, idempotencyKey: newKey() };
  return (await untilAnswered(() => client.call('workstream.create', params))).wsId;
}
