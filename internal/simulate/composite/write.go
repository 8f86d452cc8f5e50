package composite

import "github.com/operetta-dev/operetta/internal/simulate/apiserver"

// Requests returns the number of writes to the API server.
func (m *Metacontroller) Requests() int { return m.requests }

func (m *Metacontroller) send(isStatus bool, do func() (apiserver.Object, error)) (written apiserver.Object, err error) {
	m.requests++
	if m.syncFault == nil {
		return do()
	}
	err = m.syncFault.write(isStatus, func() error { written, err = do(); return err })
	return written, err
}

func (m *Metacontroller) sendCreate(child apiserver.Object) error {
	_, err := m.send(false, func() (apiserver.Object, error) {
		if err := m.tellAsked(true, child); err != nil {
			return nil, err
		}
		return m.server.Create(apiserver.ByHook, child)
	})
	return err
}

func (m *Metacontroller) sendUpdate(object apiserver.Object) (apiserver.Object, error) {
	return m.send(false, func() (apiserver.Object, error) {
		if err := m.tellAsked(false, object); err != nil {
			return nil, err
		}
		return m.server.Update(apiserver.ByHook, object)
	})
}
