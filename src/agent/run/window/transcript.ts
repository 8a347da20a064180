import { trimEndOf } from '../../../../protocol/text/trimmed-text.ts';
import { describeAttachment } from '../../attached-content.ts';
import type { Message } from '../../message.ts';

/** Of one message or output in a transcript. */
const MOST_OUTPUT = 1_000;
const MOST_ARGUMENTS = 300;

/**
 * The messages as text for a summary, in parts of at most `bytes` each. Long outputs are shortened; a message that does
 * not fit into one part is shortened, too.
 */
export function toTranscript(messages: readonly Message[], bytes: number): string[] {
  const parts: string[] = [];
  let part = '';
  for (const message of messages) {
    const text = `${shorten(toText(message), Math.floor(bytes / 2))}\n\n`;
    if (part !== '' && Buffer.byteLength(part) + Buffer.byteLength(text) > bytes) {
      parts.push(part);
      part = '';
    }
    part += text;
  }
  return part === '' ? parts : [...parts, part];
}

function toText(message: Message): string {
  switch (message.role) {
    case 'user': {
      const files = (message.attachments ?? []).map((attachment) => `[attached: ${describeAttachment(attachment)}]`);
      return [message.summary ? 'Summary so far:' : 'Person:', message.content, ...files].join('\n');
    }
    case 'assistant': {
      const calls = message.toolCalls.map(
        ({ name, arguments: text }) => `[calls ${name} ${shorten(text, MOST_ARGUMENTS)}]`,
      );
      return ['Agent:', ...(message.content === '' ? [] : [message.content]), ...calls].join('\n');
    }
    case 'tool':
      return `Result of ${message.name} (${message.outcome}):\n${shorten(message.output, MOST_OUTPUT)}`;
  }
}

/** The beginning and the end of a text that has more than `bytes`. */
export function shorten(text: string, bytes: number): string {
  const whole = Buffer.from(text);
  if (whole.length <= bytes) return text;
  const half = Math.floor(bytes / 2);
  const head = toWhole(whole.subarray(0, half));
  const tail = toWhole(whole.subarray(-half));
  return `${head}\n[… ${whole.length - 2 * half} bytes left out …]\n${tail}`;
}

/** Without the characters that were cut in two. */
const toWhole = (bytes: Buffer): string => trimEndOf(bytes.toString('utf8').replace(/^\uFFFD+/, ''), '\uFFFD');
