import type { WebhookDestination } from '../../../gateway/channels/webhook.ts';
import type { PushSettings } from '../../../gateway/push/push-services.ts';
import type { Config } from '../config.ts';

interface Known {
  webhooks: ReadonlyMap<string, WebhookDestination>;
  environment: Readonly<Record<string, string | undefined>>;
}

/** Who is notified of questions, by the configuration. */
export function pushSettingsOf(
  { push, ntfy, webhook }: Config['channels'],
  { webhooks, environment }: Known,
): PushSettings {
  const told = Object.entries(webhook).flatMap(([name, { questions: content }]) => {
    const destination = webhooks.get(name);
    return destination && content ? [[name, { ...destination, content }] as const] : [];
  });
  const topics = Object.entries(ntfy).map(([name, { url, token, tokenEnv, content }]) => {
    const held = tokenEnv === undefined ? token : environment[tokenEnv];
    return [name, { url, token: held, content }] as const;
  });
  return { delayMs: push.afterSecs * 1_000, contact: push.contact, ntfy: new Map(topics), webhooks: new Map(told) };
}
