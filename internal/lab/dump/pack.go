package dump

import (
	"bytes"
	"compress/flate"
	"io"
)

// plain is how many bytes of objects are kept as they are: only a large dump pays for less memory
// with time. blockSize is how many are compressed together, and mostOpen how many blocks are
// kept open: objects that stand side by side are like each other, and are read one after the other.
const (
	plain     = 8 << 20
	blockSize = 64 << 10
	mostOpen  = 32
)

// packer keeps texts, and compresses those above the limit.
type packer struct {
	kept   int
	filled *block // to which texts are added
	open   []*block
	writer *flate.Writer
	reader io.ReadCloser
}

// block is some texts together: plain while it is open, packed afterwards.
type block struct {
	plain, packed []byte
}

// packed is a text in a block, or a plain one.
type packed struct {
	block      *block
	start, end int
	text       []byte
}

// pack copies a text.
func (p *packer) pack(text []byte) (packed, error) {
	if p.kept += len(text); p.kept <= plain {
		return packed{text: bytes.Clone(text)}, nil
	}
	if p.filled == nil {
		p.filled = &block{plain: make([]byte, 0, blockSize+len(text))}
	}
	start := len(p.filled.plain)
	p.filled.plain = append(p.filled.plain, text...)
	at := packed{block: p.filled, start: start, end: len(p.filled.plain)}
	if at.end < blockSize {
		return at, nil
	}
	return at, p.close()
}

// close compresses the block to which texts were added.
func (p *packer) close() error {
	if p.filled == nil {
		return nil
	}
	var err error
	if p.writer == nil {
		if p.writer, err = flate.NewWriter(nil, flate.BestSpeed); err != nil {
			return err
		}
	}
	var buffer bytes.Buffer
	p.writer.Reset(&buffer)
	if _, err := p.writer.Write(p.filled.plain); err != nil {
		return err
	}
	if err := p.writer.Close(); err != nil {
		return err
	}
	p.filled.plain, p.filled.packed = nil, bytes.Clone(buffer.Bytes())
	p.filled = nil
	return nil
}

// unpack returns a text, which is not to be changed.
func (p *packer) unpack(at packed) []byte {
	b := at.block
	if b == nil {
		return at.text
	}
	if b.plain == nil {
		if p.reader == nil {
			p.reader = flate.NewReader(nil)
		}
		_ = p.reader.(flate.Resetter).Reset(bytes.NewReader(b.packed), nil) // it never fails
		buffer := bytes.NewBuffer(make([]byte, 0, at.end))
		_, _ = buffer.ReadFrom(p.reader) // what was packed here
		b.plain = buffer.Bytes()
		if p.open = append(p.open, b); len(p.open) > mostOpen {
			p.open[0].plain = nil
			p.open = p.open[1:]
		}
	}
	return b.plain[at.start:at.end]
}
