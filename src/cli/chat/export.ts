import { toSafeText } from '../terminal/safe-text.ts';
import type { Talk } from './talk.ts';

export const isExport = (line: string): boolean => /^\/export(\s|$)/.test(line);

/** `/export FILE`: writes the conversation to a new file; to one that ends in `.md`, as Markdown. */
export async function exportTo(
  { transcript, exportTo: write }: Pick<Talk, 'transcript' | 'exportTo'>,
  line: string,
): Promise<void> {
  const named = line.replace(/^\/export\s*/, '').replace(/^(["'])(.*)\1$/, '$2');
  if (named === '') throw new Error('Usage: /export FILE');
  await write(named);
  transcript.print([`The conversation was written to ${toSafeText(named)}`]);
}
