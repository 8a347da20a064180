import { type RequestBody, toForm, Upload } from '../../calls/form-body.ts';

/**
 * Parameters as JSON, or as a form if they contain uploads at any depth. An upload becomes a part of the form, and its
 * place in the parameters refers to the part.
 */
export function toRequestBody(params: object, boundary: string): RequestBody {
  const uploads: Upload[] = [];
  const json = JSON.stringify(params, (_key, value: unknown) =>
    value instanceof Upload ? `attach://file${uploads.push(value) - 1}` : value,
  );
  if (uploads.length === 0) return { headers: { 'content-type': 'application/json' }, body: json };
  const files = Object.fromEntries(uploads.map((upload, index) => [`file${index}`, upload]));
  return toForm({ fields: JSON.parse(json), files }, boundary);
}
