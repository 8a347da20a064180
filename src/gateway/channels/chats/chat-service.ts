/** A chat service, as code and people call it. */
export interface ChatService {
  channel: 'telegram' | 'whatsapp';
  label: string;
}
