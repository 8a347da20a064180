import { isRecord } from '../../../../../protocol/is-record.ts';

const hasText = (result: unknown, field: string): boolean => isRecord(result) && typeof result[field] === 'string';
const isMessage = (result: unknown): boolean => isRecord(result) && Number.isSafeInteger(result.message_id);

/** What callers read of results. A method that is missing here returns nothing that anybody reads. */
const SHAPES: Readonly<Record<string, (result: unknown) => boolean>> = {
  getMe: (result) => hasText(result, 'username'),
  getUpdates: Array.isArray,
  getMyCommands: (result) => Array.isArray(result) && result.every(isRecord),
  getWebhookInfo: (result) => hasText(result, 'url'),
  getFile: isRecord,
  sendMessage: isMessage,
  sendPhoto: isMessage,
  sendDocument: isMessage,
};

/** Whether a result has the shape that the Bot API specifies. Another one comes from something that is not Telegram. */
export const hasShape = (method: string, result: unknown): boolean => SHAPES[method]?.(result) ?? true;
