import assert from 'node:assert/strict';
import type { Bot } from '../bots.ts';
import type { TelegramSettings } from '../telegram-settings.ts';
import { BotApiError } from '../wire/bot-api-error.ts';

interface Shown {
  id: number;
  text: string;
}

/** A bot whose chat shows messages; `fault` fails calls before they are carried out, or after. */
export function fakeBot(clock: { monotonic(): number }, settings: Partial<TelegramSettings>) {
  const shown: Shown[] = [];
  const calls: string[] = [];
  const faults: { error: BotApiError; isAfter?: boolean }[] = [];
  const carryOut = (method: string, { text = '', message_id: id }: { text?: string; message_id?: number }): number => {
    assert.ok(text.length <= 4_096);
    if (method === 'sendMessage') return shown.push({ id: shown.length + 100, text }) + 99;
    const found = shown.find((one) => one.id === id);
    const refuse = (why: string) => new BotApiError('rejected', why, { code: 400, description: why });
    if (!found) throw refuse('Bad Request: message to edit not found');
    if (found.text === text) throw refuse('Bad Request: message is not modified');
    found.text = text;
    return found.id;
  };
  const call = async (method: string, params: object): Promise<unknown> => {
    calls.push(`${method} at ${clock.monotonic()}`);
    const fault = faults.shift();
    if (fault && !fault.isAfter) throw fault.error;
    const id = carryOut(method, params);
    if (fault) throw fault.error;
    return { message_id: id };
  };
  // Only what is called here.
  const bot = { api: { call }, account: '4242', settings: { streaming: 'direct', ...settings } } as unknown as Bot;
  return { bot, shown, calls, faults };
}
