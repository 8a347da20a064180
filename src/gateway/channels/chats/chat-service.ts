/** A chat service, as code and people call it. */
export interface ChatService {
  channel: 'telegram' | 'whatsapp';
  label: string;
}

export const TELEGRAM: ChatService = { channel: 'telegram', label: 'Telegram' };
export const WHATSAPP: ChatService = { channel: 'whatsapp', label: 'WhatsApp' };
