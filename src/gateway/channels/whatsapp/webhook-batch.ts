import { z } from 'zod';

/** A message of a person, in the terms of any chat service. */
export interface WhatsAppMessage {
  messageId: string;
  /** The telephone number, which is also the chat. */
  senderId: string;
  senderName: string;
  sentMs: number;
  /** The sender's own words; empty if the message was forwarded. */
  text: string;
  /** Words that the sender only passed on. */
  forwarded: string | undefined;
  media: { id: string; kind: string; mimeType: string; fileName: string | undefined; isVoice?: true } | undefined;
  /** What the message is, if nothing here reads it, for people: `locations`. */
  unreadable: string | undefined;
  /** The id of the button that was pressed. */
  pressed: string | undefined;
  replyTo: string | undefined;
}

/** What became of a message of ours. They come in any order, perhaps before the answer that names the id. */
export interface DeliveryStatus {
  messageId: string;
  to: string;
  status: 'sent' | 'delivered' | 'read' | 'failed';
  atMs: number;
  /** Why it failed. */
  error: { code: number; message: string } | undefined;
}

interface WebhookBatch {
  messages: WhatsAppMessage[];
  statuses: DeliveryStatus[];
}

const Seconds = z.coerce.number().transform((seconds) => seconds * 1000);
const Media = z.object({
  id: z.string().min(1),
  mime_type: z.string().default('application/octet-stream'),
  caption: z.string().default(''),
  filename: z.string().optional(),
  /** Of audio: it was recorded in the chat. */
  voice: z.boolean().optional(),
});
const Message = z.object({
  id: z.string().min(1),
  from: z.string().min(1),
  timestamp: Seconds,
  type: z.string(),
  text: z.object({ body: z.string() }).optional(),
  image: Media.optional(),
  document: Media.optional(),
  audio: Media.optional(),
  video: Media.optional(),
  sticker: Media.optional(),
  interactive: z.object({ button_reply: z.object({ id: z.string() }).optional() }).optional(),
  context: z
    .object({
      id: z.string().optional(),
      forwarded: z.boolean().optional(),
      frequently_forwarded: z.boolean().optional(),
    })
    .optional(),
});
type Message = z.infer<typeof Message>;
const Status = z.object({
  id: z.string().min(1),
  recipient_id: z.string(),
  status: z.enum(['sent', 'delivered', 'read', 'failed']),
  timestamp: Seconds,
  errors: z.array(z.object({ code: z.number(), title: z.string().default('') })).optional(),
});
const Contact = z.object({ wa_id: z.string(), profile: z.object({ name: z.string() }) });
const Value = z.object({
  metadata: z.object({ phone_number_id: z.string() }),
  messages: z.array(z.unknown()).default([]),
  statuses: z.array(z.unknown()).default([]),
  contacts: z.array(z.unknown()).default([]),
});
const Body = z.object({ entry: z.array(z.object({ changes: z.array(z.object({ value: z.unknown() })) })) });

/**
 * Reads a request of the webhook, which may hold several messages and statuses, of several numbers. Leaves out what belongs
 * to other numbers, and what it does not know: one of them must not keep the others from being read.
 */
export function readBatch(body: unknown, phoneNumberId: string): WebhookBatch {
  const parsed = Body.safeParse(body);
  const changes = parsed.success ? parsed.data.entry.flatMap((entry) => entry.changes) : [];
  const values = known(
    Value,
    changes.map(({ value }) => value),
  ).filter(({ metadata }) => metadata.phone_number_id === phoneNumberId);
  const messages = values.flatMap(({ messages: unread, contacts }) => {
    const names = new Map(known(Contact, contacts).map(({ wa_id, profile }) => [wa_id, profile.name]));
    return known(Message, unread).flatMap(
      (message) => toMessage(message, names.get(message.from) ?? message.from) ?? [],
    );
  });
  return {
    messages: messages.toSorted((a, b) => a.sentMs - b.sentMs), // WhatsApp keeps no order
    statuses: values.flatMap(({ statuses }) => known(Status, statuses).map(toStatus)),
  };
}

const known = <T>(schema: z.ZodType<T>, values: readonly unknown[]): T[] =>
  values.flatMap((value) => {
    const { success, data } = schema.safeParse(value);
    return success ? [data] : [];
  });

const KINDS = ['image', 'document', 'audio', 'video', 'sticker'] as const;

/** Contents that nothing here reads, by type: whoever sends one is told so. Polls, for example, are `unsupported`. */
const UNREADABLE: ReadonlyMap<string, string> = new Map([
  ['location', 'locations'],
  ['contacts', 'contacts'],
  ['order', 'orders'],
  ['unsupported', 'this kind of message'],
]);

/** Undefined for a message that says nothing, such as a reaction. */
function toMessage(message: Message, senderName: string): WhatsAppMessage | undefined {
  const { id, from, timestamp, type, context } = message;
  const kind = KINDS.find((name) => message[name] !== undefined);
  const file = kind && message[kind];
  const words = message.text?.body ?? file?.caption ?? '';
  const pressed = message.interactive?.button_reply?.id;
  const unreadable = UNREADABLE.get(type);
  if (words === '' && !file && pressed === undefined && unreadable === undefined) return undefined;
  const isForwarded = context?.forwarded === true || context?.frequently_forwarded === true;
  return {
    messageId: id,
    senderId: from,
    senderName,
    sentMs: timestamp,
    unreadable,
    pressed,
    replyTo: context?.id,
    text: isForwarded ? '' : words,
    forwarded: isForwarded ? words : undefined,
    media: kind && file && toMedia(kind, file),
  };
}

const toMedia = (kind: string, { id, mime_type: mimeType, filename: fileName, voice }: z.infer<typeof Media>) => ({
  id,
  kind,
  mimeType,
  fileName,
  ...(voice === true && { isVoice: true as const }),
});

const toStatus = ({ id, recipient_id: to, status, timestamp, errors }: z.infer<typeof Status>): DeliveryStatus => {
  const [error] = errors ?? [];
  return { messageId: id, to, status, atMs: timestamp, error: error && { code: error.code, message: error.title } };
};
