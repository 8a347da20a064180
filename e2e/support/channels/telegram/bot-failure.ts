import type { ResponseParameters } from '@grammyjs/types';

/** A refusal in the form of the Bot API. */
export class BotFailure extends Error {
  readonly code: number;
  readonly parameters: ResponseParameters | undefined;

  constructor(code: number, description: string, parameters?: ResponseParameters) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

/** 400 with this description. */
export const badRequest = (description: string): BotFailure => new BotFailure(400, `Bad Request: ${description}`);
