/** What a refused request was refused for, as far as the upstream says so. */
export type Refusal =
  /** It does not fit into the context window. In tokens; absent if the upstream names no numbers. */
  | { about: 'window'; maximum?: number; asked?: number }
  /** A tool's description, or a parameter. */
  | { about: 'schema' }
  /** An image that the model cannot read, or any image. */
  | { about: 'image' }
  /** Reasoning that belongs to another conversation. */
  | { about: 'binding' };

/** For people: what the refusal means. */
export function refusalWords(refusal: Refusal): string {
  switch (refusal.about) {
    case 'window': {
      const { maximum } = refusal;
      return `The conversation does not fit into the model’s context window${maximum ? ` of ${maximum} tokens` : ''}.`;
    }
    case 'schema':
      return 'The model’s server does not accept the description of a tool or a parameter.';
    case 'image':
      return 'The model’s server does not accept an image.';
    case 'binding':
      return 'The model’s server does not accept reasoning from an earlier state of the conversation.';
  }
}
