import { createHmac } from 'node:crypto';

/** Signs data as a maker does: nobody else can, and a changed byte shows. */
export const seal = (...parts: readonly unknown[]): string =>
  createHmac('sha256', 'the maker’s key').update(JSON.stringify(parts)).digest('base64');

/** An event of a stream. */
export const event = (data: object, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;

/** Two pieces of a text, so that clients have to join them. */
export const pieces = (text: string): string[] =>
  text.length < 2 ? [text] : [text.slice(0, text.length >> 1), text.slice(text.length >> 1)];
