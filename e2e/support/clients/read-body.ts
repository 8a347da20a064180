import { bodyOf } from '../../../src/testing/answer-body.ts';

/** The body of an answer; of an error without the id of its request, which is checked (`bodyOf`). */
export const readBody = async (response: Response) =>
  bodyOf({ status: response.status, headers: response.headers, text: await response.text() });
