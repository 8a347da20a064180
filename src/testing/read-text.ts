import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';

/** Reads an answer that goes on until at least this much text has arrived. */
export async function readText(res: IncomingMessage, length: number): Promise<string> {
  let text = '';
  while (text.length < length) {
    const chunk: Buffer | null = res.read();
    if (chunk === null) await once(res, 'readable');
    else text += chunk.toString();
  }
  return text;
}
