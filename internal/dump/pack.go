package dump

import (
	"bytes"
	"compress/flate"
	"io"
)

// plain is how many bytes of objects are kept as they are: only a large dump pays for less memory
// with time.
const plain = 32 << 20

// packer keeps texts, and compresses those above the limit.
type packer struct {
	kept   int
	buffer bytes.Buffer
	writer *flate.Writer
	reader io.ReadCloser
}

// pack copies a text into an entry.
func (p *packer) pack(e *entry, text []byte) error {
	if p.kept += len(text); p.kept <= plain {
		e.text = bytes.Clone(text)
		return nil
	}
	if p.writer == nil {
		writer, err := flate.NewWriter(nil, flate.BestSpeed)
		if err != nil {
			return err
		}
		p.writer = writer
	}
	p.buffer.Reset()
	p.writer.Reset(&p.buffer)
	if _, err := p.writer.Write(text); err != nil {
		return err
	}
	if err := p.writer.Close(); err != nil {
		return err
	}
	e.text, e.isPacked = bytes.Clone(p.buffer.Bytes()), true
	return nil
}

// unpack returns the text of an entry, which is not to be kept.
func (p *packer) unpack(e *entry) []byte {
	if !e.isPacked {
		return e.text
	}
	if p.reader == nil {
		p.reader = flate.NewReader(nil)
	}
	_ = p.reader.(flate.Resetter).Reset(bytes.NewReader(e.text), nil) // it never fails
	p.buffer.Reset()
	_, _ = p.buffer.ReadFrom(p.reader) // what was packed here
	return p.buffer.Bytes()
}
