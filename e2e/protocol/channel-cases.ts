import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';
import { startTelegramServer } from '../support/channels/telegram-server.ts';

interface Caller {
  /** As the operator. */
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  home: string;
}

type TelegramServer = Awaited<ReturnType<typeof startTelegramServer>>;

const TOKEN = '4242:scripted-bot-token-for-tests';

/** A successful call of each method about chat services. */
export function channelCases({ call, home }: Caller) {
  const file = path.join(home, 'config.json');
  const withBot = async <T>(use: (telegram: TelegramServer) => Promise<T>): Promise<T> => {
    await using telegram = await startTelegramServer({ token: TOKEN });
    const before = await readFile(file, 'utf8').catch(() => '{}');
    const config = { channels: { telegram: { botToken: TOKEN, apiRoot: telegram.apiRoot } } };
    await writeFile(file, JSON.stringify(config), { mode: 0o600 });
    await call('config.reload', {});
    const result = await use(telegram);
    await writeFile(file, before, { mode: 0o600 });
    await call('config.reload', {});
    return result;
  };
  return {
    'channel.list': () => call('channel.list', {}),
    'channel.sender.list': () => call('channel.sender.list', {}),
    'channel.part.list': () => call('channel.part.list', {}),
    'channel.test': () => withBot(() => call('channel.test', { channel: 'telegram' })),
    'channel.revoke': () => call('channel.revoke', { channel: 'telegram', senderId: '1' }),
    'channel.restore': () => call('channel.restore', { channel: 'telegram', senderId: '1' }),
    'channel.pair': () =>
      withBot(async (telegram) => {
        const eve = telegram.person({ name: 'Eve', id: 666 });
        eve.says('hello');
        const [code = ''] = /[A-Z0-9]{5}-[A-Z0-9]{5}/.exec((await eve.chat.next()).text) ?? [];
        return call('channel.pair', { channel: 'telegram', code });
      }),
  };
}
