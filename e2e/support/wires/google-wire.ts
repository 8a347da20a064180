import { z } from 'zod';
import { answerAsGoogle, callSeal } from './google-answer.ts';
import { findTwice, isSame, tokensIn, type Wire } from './wire.ts';

const Signed = { thoughtSignature: z.string().optional() };
const Text = z.strictObject({ text: z.string(), thought: z.boolean().optional(), ...Signed });
const Data = z.strictObject({
  inlineData: z.strictObject({ mimeType: z.string(), data: z.string().min(1) }),
});
const Call = z.strictObject({
  functionCall: z.strictObject({ id: z.string().optional(), name: z.string(), args: z.unknown() }),
  ...Signed,
});
const Response = z.strictObject({
  functionResponse: z.strictObject({
    id: z.string().optional(),
    name: z.string(),
    response: z.record(z.string(), z.unknown()),
  }),
});
const Part = z.union([Text, Data, Call, Response]);
type Part = z.infer<typeof Part>;
const Content = z.strictObject({ role: z.enum(['user', 'model']), parts: z.array(Part) });

/** A request to Google's Gemini API, as far as it is documented and used. */
const GoogleBody = z.looseObject({
  /** In the path of a request. */
  model: z.string(),
  contents: z.array(Content).min(1),
  systemInstruction: z.looseObject({ parts: z.array(z.strictObject({ text: z.string() })) }).optional(),
  tools: z
    .array(
      z.looseObject({
        functionDeclarations: z.array(
          z.looseObject({
            name: z.string(),
            description: z.string().optional(),
            parametersJsonSchema: z.unknown().optional(),
            parameters: z.unknown().optional(),
          }),
        ),
      }),
    )
    .optional(),
  generationConfig: z.looseObject({}).optional(),
});
export type GoogleBody = z.infer<typeof GoogleBody>;

/** Google's Gemini API. The first call of every step carries the signature that it was given. */
export const googleWire: Wire<GoogleBody> = {
  name: 'google',
  isAsked: (path) => path.includes(':streamGenerateContent'),
  schema: GoogleBody,
  checks: {
    alternation: checkTurns,
    pairing: checkPairs,
    order: checkOrder,
    empty: checkEmpty,
    arguments: checkArguments,
    images: ({ contents }, { images }) => {
      const count = contents.flatMap(({ parts }) => parts).filter((part) => 'inlineData' in part).length;
      return count > images
        ? `Please reduce the number of images: ${count} exceeds the limit of ${images}.`
        : undefined;
    },
    window: (body, { window }) =>
      tokensIn(body) > window
        ? `The input token count (${tokensIn(body)}) exceeds the maximum number of tokens allowed (${window}).`
        : undefined,
    'tool-names': (body) => {
      const twice = findTwice(declarationsIn(body).map(({ name }) => name));
      return twice === undefined ? undefined : `Duplicate function declaration found: ${twice}`;
    },
    'tool-schema': checkSchemas,
    signatures: checkSignatures,
    reasoning: checkSigned,
  },
  refuse: (_rule, message) => ({ status: 400, body: { error: { code: 400, message, status: 'INVALID_ARGUMENT' } } }),
  withModel: (body, path) => ({ ...body, model: /models\/([^:]+):/.exec(path)?.[1] }),
  partsOf: ({ model, systemInstruction, tools, contents }) => ({
    model,
    before: { systemInstruction, tools },
    messages: contents,
  }),
  answer: (body, answer) => ({ events: answerAsGoogle(body, answer), dropped: 0 }),
  tokensOf: tokensIn,
};

const declarationsIn = ({ tools = [] }: GoogleBody) => tools.flatMap((tool) => tool.functionDeclarations);

const isCall = (part: Part): part is z.infer<typeof Call> => 'functionCall' in part;
const isResponse = (part: Part): part is z.infer<typeof Response> => 'functionResponse' in part;

function checkTurns({ contents }: GoogleBody): string | undefined {
  if (contents[0]?.role !== 'user') return 'Please ensure that multiturn requests begin with a user role.';
  const twice = contents.some(({ role }, index) => {
    const before = contents[index - 1];
    return role === before?.role && !before.parts.some(isResponse); // a message may follow responses
  });
  if (twice) return 'Please ensure that multiturn requests alternate between user and model.';
  return contents.at(-1)?.role === 'user' ? undefined : 'Please ensure that multiturn requests end with a user role.';
}

const UNEQUAL =
  'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';

function checkPairs({ contents }: GoogleBody): string | undefined {
  for (const [index, { parts }] of contents.entries()) {
    const calls = parts.filter(isCall).length;
    const next = contents[index + 1]?.parts.filter(isResponse).length ?? 0;
    if (calls !== next && calls > 0) return UNEQUAL;
    const before = contents[index - 1]?.parts.filter(isCall).length ?? 0;
    if (parts.some(isResponse) && before === 0) {
      return 'Please ensure that function response turn comes immediately after a function call turn.';
    }
  }
  return undefined;
}

/** Responses are matched by their order and their names. */
function checkOrder({ contents }: GoogleBody): string | undefined {
  for (const [index, { parts }] of contents.entries()) {
    const responses = parts.filter(isResponse).map(({ functionResponse: { id, name } }) => `${id} ${name}`);
    if (responses.length === 0) continue;
    const calls =
      contents[index - 1]?.parts.filter(isCall).map(({ functionCall: { id, name } }) => `${id} ${name}`) ?? [];
    if (!parts.slice(0, responses.length).every(isResponse) || !isSame(calls, responses)) return UNEQUAL;
  }
  return undefined;
}

function checkEmpty({ contents }: GoogleBody): string | undefined {
  const index = contents.findIndex(({ parts }) => parts.length === 0);
  if (index >= 0) return `* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.`;
  const isEmpty = (part: Part) => 'text' in part && part.text === '' && part.thoughtSignature === undefined;
  const empty = contents.findIndex(({ parts }) => parts.some(isEmpty));
  return empty < 0 ? undefined : `Unable to submit request because it must have a text parameter. contents[${empty}]`;
}

function checkArguments({ contents }: GoogleBody): string | undefined {
  const calls = contents.flatMap(({ parts }) => parts.filter(isCall));
  const isMapping = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  return calls.every(({ functionCall: { args } }) => isMapping(args))
    ? undefined
    : "Invalid value at 'contents.parts.function_call.args' (type.googleapis.com/google.protobuf.Struct)";
}

function checkSchemas(body: GoogleBody): string | undefined {
  for (const [index, { name, parametersJsonSchema: schema }] of declarationsIn(body).entries()) {
    const at = `* GenerateContentRequest.tools[0].function_declarations[${index}]`;
    if (!/^[a-zA-Z_][\w.-]{0,63}$/.test(name)) return `${at}.name: [FIELD_INVALID]`;
    if (schema === undefined) continue; // a function without parameters
    const isObject = typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'object';
    if (!isObject) return `${at}.parameters_json_schema: should be of type OBJECT`;
  }
  return undefined;
}

/** Stands for a signature that is not known: of calls that another model made. */
const SENTINEL = 'skip_thought_signature_validator';

/** A signature that was altered, or belongs to another call. */
function checkSignatures({ contents }: GoogleBody): string | undefined {
  const calls = contents.flatMap(({ parts }) => parts.filter(isCall));
  const isForeign = calls.some(
    ({ functionCall, thoughtSignature: signature }) =>
      signature !== undefined && signature !== SENTINEL && signature !== callSeal(functionCall),
  );
  return isForeign ? 'Corrupted thought signature.' : undefined;
}

/** Since Gemini 3, the first call of each step has a signature. */
function checkSigned({ model, contents }: GoogleBody): string | undefined {
  if (/gemini-[12]/.test(model)) return undefined;
  for (const [index, { parts }] of contents.entries()) {
    const first = parts.find(isCall);
    if (!first || first.thoughtSignature !== undefined) continue;
    return `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${first.functionCall.name}\` , position ${index + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`;
  }
  return undefined;
}
