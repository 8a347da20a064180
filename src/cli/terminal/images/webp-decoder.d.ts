/** The types of the package need those of a browser. */
declare module '@jsquash/webp/codec/dec/webp_dec.js' {
  interface Decoder {
    /** Null for what is no WebP, is damaged, or moves. */
    decode(bytes: Uint8Array): { width: number; height: number; data: Uint8ClampedArray<ArrayBuffer> } | null;
  }
  // biome-ignore lint/style/noDefaultExport: the package has it.
  export default function start(options: { wasmBinary: Uint8Array }): Promise<Decoder>;
}
