import type { Message, ToolMessage } from './message.ts';

/** Outputs that are not longer stay whole: the line in their place would hardly be shorter. */
const STAYS_BYTES = 400;

/** Whether an output is long enough to be replaced by one line. */
export const isLongOutput = (message: Message): message is ToolMessage =>
  message.role === 'tool' && Buffer.byteLength(message.output) > STAYS_BYTES;

/** The message with one line in place of a long output. The same for the same message, so that requests stay equal. */
export function shortenOutput(message: Message): Message {
  if (!isLongOutput(message)) return message;
  const { callId, output, kept } = message;
  const bytes = kept?.bytes ?? Buffer.byteLength(output);
  const where = `read_output with call_id "${callId}" shows it`;
  return { ...message, output: `[This output (${bytes} bytes) was taken out of the context; ${where}.]` };
}
