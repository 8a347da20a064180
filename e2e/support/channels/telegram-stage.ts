import { startDaemon } from '../daemon/daemon.ts';
import { startScriptedModel } from '../model/scripted-model.ts';
import type { SendPace } from './telegram/send-limits.ts';
import { startTelegramServer } from './telegram-server.ts';

const TOKEN = '4242:scripted-bot-token-for-tests';
export const ADA = 101;
const EVE = 666;

interface StageOptions {
  /** Of `channels.telegram`. */
  settings?: object;
  /** Of `channels`. */
  channels?: object;
  /** Of the whole configuration. */
  config?: object;
  /** How often the bot may send. Default: no limits. */
  pace?: SendPace;
}

/** A daemon with a bot that Ada may write to and decide with, and Bob may only write to. */
export async function setStage({ settings, channels, config, pace }: StageOptions = {}) {
  const telegram = await startTelegramServer({ token: TOKEN, ...(pace && { pace }) });
  const model = await startScriptedModel();
  const people = { allowFrom: [ADA, 102], approvers: [ADA] };
  // On a slow machine, some answers would be shown in progress.
  const bot = { botToken: TOKEN, apiRoot: telegram.apiRoot, ...people, streaming: 'off' };
  const daemon = await startDaemon({
    model: model.url,
    config: { ...config, channels: { ...channels, telegram: { ...bot, ...settings } } },
  });
  return {
    ...{ telegram, model, daemon },
    ada: telegram.person({ name: 'Ada', id: ADA }),
    bob: telegram.person({ name: 'Bob', id: 102 }),
    eve: telegram.person({ name: 'Eve', id: EVE }),
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      await telegram[Symbol.asyncDispose]();
      await model.close();
    },
  };
}
