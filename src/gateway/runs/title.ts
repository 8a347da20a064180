import { withoutSecrets } from '../../secret-text.ts';
import type { NewCut } from '../cuts/new-cut.ts';
import type { Statement } from '../store/store.ts';
import { MOST_READ, toTitle } from '../titles/title-text.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import type { RunRequest } from './run-record.ts';
import { setWorkstream } from './run-rows.ts';

/** The title of a workstream with this message, and the statement that stores it if the message is its first one. */
export function nameAfter(
  { wsId, title: before }: Pick<WorkstreamData, 'wsId' | 'title'>,
  { message, attachments }: RunRequest,
  cut: Pick<NewCut, 'left'> | undefined,
): { title: string; naming: Statement[] } {
  if (before !== null && cut?.left !== 0) return { title: before, naming: [] };
  const title = titleOf(message || (attachments?.[0]?.filename ?? ''));
  return { title, naming: [setWorkstream(wsId, { title })] };
}

/** The first line of a first message, shortened for a tab. */
export const titleOf = (message: string): string =>
  toTitle(withoutSecrets((message.trim().split(/[\r\n]/, 1)[0] ?? '').slice(0, MOST_READ)));
