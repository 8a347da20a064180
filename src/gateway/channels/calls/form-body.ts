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

export interface RequestBody {
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer>;
}

/** Fields and files as a form. Written by hand, because undici does not accept Node's FormData. */
export function toForm(
  { fields, files }: { fields: Record<string, unknown>; files: Record<string, Upload> },
  boundary: string,
): RequestBody {
  const parts = [
    ...Object.entries(fields).map(([name, value]) => toField(name, value)),
    ...Object.entries(files).map(([name, upload]) => toFile(name, upload)),
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
