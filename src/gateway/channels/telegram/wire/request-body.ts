/** A file that a request uploads. */
export class Upload {
  readonly fileName: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;

  constructor({ fileName, contentType, bytes }: { fileName: string; contentType: string; bytes: Uint8Array }) {
    this.fileName = fileName;
    this.contentType = contentType;
    this.bytes = bytes;
  }
}

interface RequestBody {
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer>;
}

/**
 * Parameters as JSON, or as a form if they contain uploads at any depth. An upload becomes a part of the form, and its
 * place in the parameters refers to the part. Written by hand, because undici does not accept Node's FormData.
 */
export function toRequestBody(params: object, boundary: string): RequestBody {
  const uploads: Upload[] = [];
  const json = JSON.stringify(params, (_key, value: unknown) =>
    value instanceof Upload ? `attach://file${uploads.push(value) - 1}` : value,
  );
  if (uploads.length === 0) return { headers: { 'content-type': 'application/json' }, body: json };
  const fields: Record<string, unknown> = JSON.parse(json);
  const parts = [
    ...Object.entries(fields).map(([name, value]) => toField(name, value)),
    ...uploads.map((upload, index) => toFile(`file${index}`, upload)),
  ];
  const pieces = parts.flatMap((part) => [`--${boundary}\r\n`, ...part, '\r\n']);
  const body = Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece)));
  return { headers: { 'content-type': `multipart/form-data; boundary=${boundary}` }, body };
}

const toField = (name: string, value: unknown): string[] => [
  `content-disposition: form-data; name="${quoted(name)}"\r\n\r\n`,
  typeof value === 'string' ? value : JSON.stringify(value),
];

const toFile = (name: string, { fileName, contentType, bytes }: Upload): (string | Uint8Array)[] => [
  `content-disposition: form-data; name="${name}"; filename="${quoted(fileName)}"\r\n`,
  `content-type: ${contentType.replaceAll(/[\r\n]/g, '')}\r\n\r\n`,
  bytes,
];

/** As browsers do. */
const quoted = (text: string): string => text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
