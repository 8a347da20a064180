import { toSafeText } from '../terminal/safe-text.ts';
import type { Talk } from './talk.ts';

export const isAttach = (line: string): boolean => /^\/attach(\s|$)/.test(line);

/** `/attach FILE`: attaches a file to the next message. Quotes around the name are removed. */
export async function attach(
  { transcript, attach: give }: Pick<Talk, 'transcript' | 'attach'>,
  line: string,
): Promise<void> {
  const named = line.replace(/^\/attach\s*/, '').replace(/^(["'])(.*)\1$/, '$2');
  if (named === '') throw new Error('Usage: /attach FILE');
  const { filename, mime_type, size_bytes } = await give(named);
  transcript.print([`+ ${toSafeText(filename)} (${mime_type}, ${size_bytes} bytes) is attached to the next message`]);
}
