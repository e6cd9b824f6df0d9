// Reads a form that carries a file (multipart/form-data, RFC 7578) from the bytes of a body the server already bounded. The
// parser is a library, loaded when the first such form comes; what is more than one small form is refused.
import { consoleUploadBytesMax, parametersMax } from '../contract/limits.ts';

export interface UploadForm {
  readonly fields: URLSearchParams;
  /** The bytes of the first file that is not empty. */
  readonly file: Buffer | undefined;
}

/** The fields and the file of a form; undefined when it is none, or holds more than it may. */
export async function parseUpload(contentType: string, body: Buffer): Promise<UploadForm | undefined> {
  const { Busboy } = await import('@fastify/busboy');
  return new Promise((resolve) => {
    const fields = new URLSearchParams();
    let file: Buffer | undefined;
    const fail = (): void => resolve(undefined);
    try {
      const parser = Busboy({
        headers: { 'content-type': contentType },
        limits: {
          fields: parametersMax,
          files: 2,
          fileSize: consoleUploadBytesMax,
          fieldSize: consoleUploadBytesMax,
          parts: parametersMax,
        },
      });
      parser.on('field', (name, value, _nameTruncated, isTruncated) => {
        if (isTruncated) fail();
        else fields.append(name, value);
      });
      parser.on('file', (_name, stream) => {
        const parts: Buffer[] = [];
        stream.on('data', (part: Buffer) => parts.push(part));
        stream.on('limit', fail);
        stream.on('end', () => {
          const bytes = Buffer.concat(parts);
          if (bytes.length > 0) file ??= bytes;
        });
      });
      for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit', 'error'] as const) parser.on(limit, fail);
      parser.on('finish', () => resolve({ fields, file }));
      parser.end(body);
    } catch {
      fail(); // no boundary
    }
  });
}
