import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';
import { startPushServer } from '../support/channels/push-server.ts';
import { startTelegramServer } from '../support/channels/telegram-server.ts';

interface Caller {
  /** As the operator. */
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  home: string;
}

type TelegramServer = Awaited<ReturnType<typeof startTelegramServer>>;

const TOKEN = '4242:scripted-bot-token-for-tests';

/** A successful call of each method about chat services and notifications. */
export function channelCases({ call, home }: Caller) {
  const file = path.join(home, 'config.json');
  const withConfig = async <T>(config: object, use: () => Promise<T>): Promise<T> => {
    const before = await readFile(file, 'utf8').catch(() => '{}');
    await writeFile(file, JSON.stringify(config), { mode: 0o600 });
    await call('config.reload', {});
    const result = await use();
    await writeFile(file, before, { mode: 0o600 });
    await call('config.reload', {});
    return result;
  };
  const withBot = async <T>(use: (telegram: TelegramServer) => Promise<T>): Promise<T> => {
    await using telegram = await startTelegramServer({ token: TOKEN });
    const config = { channels: { telegram: { botToken: TOKEN, apiRoot: telegram.apiRoot } } };
    return await withConfig(config, () => use(telegram));
  };
  const withBrowser = async <T>(use: (subscriptionId: string) => Promise<T>): Promise<T> => {
    await using server = await startPushServer();
    return await withConfig({ egress: { privateHosts: ['127.0.0.1'] } }, async () => {
      const { subscription } = await call('push.subscribe', server.subscription);
      return use(subscription.subscriptionId);
    });
  };
  return {
    'push.list': () => call('push.list', {}),
    'push.subscribe': () => withBrowser(async () => undefined),
    'push.test': () => withBrowser((subscriptionId) => call('push.test', { subscriptionId })),
    'push.remove': () => withBrowser((subscriptionId) => call('push.remove', { subscriptionId })),
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
