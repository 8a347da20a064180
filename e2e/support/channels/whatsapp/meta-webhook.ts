import { createHmac } from 'node:crypto';

interface MetaOptions {
  /** Where the daemon listens. */
  url(): string;
  phoneNumberId: string;
  appSecret: string;
}

/** A message of a person as Meta writes it; a text unless it says otherwise. */
interface Said {
  id?: string;
  from: string;
  name?: string;
  text?: string;
  /** The id of a pressed button, and the message that has it. */
  pressed?: { data: string; messageId: string };
  isForwarded?: boolean;
  /** Its caption is the text. */
  media?: { kind: 'image' | 'video'; id: string };
}

/** What Meta calls the daemon with: signed batches of messages and of statuses. */
export function createMeta({ url, phoneNumberId, appSecret }: MetaOptions) {
  let count = 0;
  const hook = () => `${url()}/v1/api/channels/whatsapp/webhook`;
  const sign = (body: string, secret = appSecret) =>
    `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const post = (body: string, headers: Record<string, string> = { 'x-hub-signature-256': sign(body) }) =>
    fetch(hook(), { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
  const toBody = (...values: object[]) =>
    JSON.stringify({
      object: 'whatsapp_business_account',
      entry: values.map((value) => ({
        id: '1',
        changes: [
          {
            field: 'messages',
            value: { messaging_product: 'whatsapp', metadata: { phone_number_id: phoneNumberId }, ...value },
          },
        ],
      })),
    });
  const toMessage = ({ id = `wamid.in.${++count}`, from, text = '', pressed, isForwarded, media }: Said) => ({
    ...{ id, from, timestamp: '1795797178' },
    ...(pressed
      ? {
          type: 'interactive',
          interactive: { type: 'button_reply', button_reply: { id: pressed.data, title: '' } },
          context: { id: pressed.messageId },
        }
      : media
        ? { type: media.kind, [media.kind]: { id: media.id, mime_type: 'application/octet-stream', caption: text } }
        : { type: 'text', text: { body: text }, ...(isForwarded && { context: { forwarded: true } }) }),
  });
  const contactsOf = (said: readonly Said[]) =>
    said.map(({ from, name = 'Ada' }) => ({ wa_id: from, profile: { name } }));
  const ofMessages = (said: readonly Said[]) => toBody({ contacts: contactsOf(said), messages: said.map(toMessage) });
  return {
    hook,
    sign,
    post,
    ofMessages,
    /** Sends one batch. Resolves with the status of the answer. */
    says: async (...said: Said[]): Promise<number> => (await post(ofMessages(said))).status,
    reports: async (...statuses: { id: string; to: string; status: string; code?: number }[]): Promise<number> => {
      const told = statuses.map(({ id, to, status, code }) => ({
        ...{ id, recipient_id: to, status, timestamp: '1795797179' },
        ...(code !== undefined && { errors: [{ code, title: 'Message undeliverable' }] }),
      }));
      return (await post(toBody({ statuses: told }))).status;
    },
  };
}
