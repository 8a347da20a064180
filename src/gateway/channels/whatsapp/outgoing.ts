/** A message as the Graph API sends it. */
export type OutgoingMessage =
  | { type: 'text'; text: string }
  | { type: 'buttons'; text: string; buttons: readonly { id: string; title: string }[] }
  | { type: 'template'; name: string; language: string; parameters: readonly string[] }
  | { type: 'image' | 'video' | 'document'; media: MediaSource; caption?: string }
  | { type: 'audio'; media: MediaSource };

/** A file that was uploaded. */
interface MediaSource {
  id: string;
  fileName?: string;
}

/** Limits of WhatsApp. */
const MAX_BUTTONS = 3;
const MAX_TITLE = 20;

/** The body of a message for the Graph API. Throws RangeError for buttons that WhatsApp would refuse. */
export function toBody(message: OutgoingMessage): Record<string, unknown> {
  switch (message.type) {
    case 'text':
      return { type: 'text', text: { body: message.text, preview_url: false } };
    case 'buttons':
      return { type: 'interactive', interactive: toInteractive(message) };
    case 'template':
      return { type: 'template', template: toTemplate(message) };
    case 'audio':
      return { type: 'audio', audio: { id: message.media.id } };
    default: {
      const { type, media, caption } = message;
      const named = type === 'document' && media.fileName !== undefined && { filename: media.fileName };
      return { type, [type]: { id: media.id, ...named, ...(caption !== undefined && { caption }) } };
    }
  }
}

function toInteractive({ text, buttons }: Extract<OutgoingMessage, { type: 'buttons' }>) {
  if (buttons.length === 0 || buttons.length > MAX_BUTTONS)
    throw new RangeError(`WhatsApp allows 1 to ${MAX_BUTTONS} buttons.`);
  const long = buttons.find(({ title }) => title.length > MAX_TITLE || title === '');
  if (long) throw new RangeError(`The button ${JSON.stringify(long.title)} must have 1 to ${MAX_TITLE} characters.`);
  const replies = buttons.map(({ id, title }) => ({ type: 'reply', reply: { id, title } }));
  return { type: 'button', body: { text }, action: { buttons: replies } };
}

function toTemplate({ name, language, parameters }: Extract<OutgoingMessage, { type: 'template' }>) {
  const texts = parameters.map((text) => ({ type: 'text', text }));
  const components = texts.length === 0 ? {} : { components: [{ type: 'body', parameters: texts }] };
  return { name, language: { code: language }, ...components };
}
